#pragma once

#include "functions.h"
#include "pose.h"

// The structures and functions of librealsense2 that the driver uses. Every rs2_ object is a dm_object; dm_fault is
// rs2_error**.
// Source: include/librealsense2/h/ of version 2.50.

typedef struct {
    int32_t width;
    int32_t height;
    float ppx, ppy, fx, fy;
    int32_t model;
    float coefficients[5];
} dm_realsense_intrinsics;

#pragma clang assume_nonnull begin

#define DM_REALSENSE(F, O) \
    F(errorMessage, rs2_get_error_message, dm_text, dm_object error) \
    F(errorFunction, rs2_get_failed_function, dm_text, dm_object error) \
    F(errorType, rs2_get_librealsense_exception_type, int32_t, dm_object error) \
    F(freeError, rs2_free_error, void, dm_object error) \
    F(apiVersion, rs2_get_api_version, int32_t, dm_fault) \
    F(createContext, rs2_create_context, dm_object, int32_t version, dm_fault) \
    F(deleteContext, rs2_delete_context, void, dm_object context) \
    F(queryDevices, rs2_query_devices, dm_object, dm_object context, dm_fault) \
    F(deviceCount, rs2_get_device_count, int32_t, dm_object list, dm_fault) \
    F(createDevice, rs2_create_device, dm_object, dm_object list, int32_t place, dm_fault) \
    F(deleteDeviceList, rs2_delete_device_list, void, dm_object list) \
    F(deleteDevice, rs2_delete_device, void, dm_object device) \
    F(supportsDeviceInfo, rs2_supports_device_info, int32_t, dm_object device, int32_t info, dm_fault) \
    F(deviceInfo, rs2_get_device_info, dm_text, dm_object device, int32_t info, dm_fault) \
    F(querySensors, rs2_query_sensors, dm_object, dm_object device, dm_fault) \
    F(sensorCount, rs2_get_sensors_count, int32_t, dm_object list, dm_fault) \
    F(createSensor, rs2_create_sensor, dm_object, dm_object list, int32_t place, dm_fault) \
    F(deleteSensorList, rs2_delete_sensor_list, void, dm_object list) \
    F(deleteSensor, rs2_delete_sensor, void, dm_object sensor) \
    F(isSensorExtendable, rs2_is_sensor_extendable_to, int32_t, dm_object sensor, int32_t extension, dm_fault) \
    F(depthScale, rs2_get_depth_scale, float, dm_object sensor, dm_fault) \
    F(streamProfiles, rs2_get_stream_profiles, dm_object, dm_object sensor, dm_fault) \
    F(streamProfileCount, rs2_get_stream_profiles_count, int32_t, dm_object list, dm_fault) \
    F(streamProfile, rs2_get_stream_profile, dm_object, dm_object list, int32_t place, dm_fault) \
    F(deleteStreamProfiles, rs2_delete_stream_profiles_list, void, dm_object list) \
    F(streamProfileData, rs2_get_stream_profile_data, void, dm_object profile, int32_t *stream, int32_t *format, \
      int32_t *index, int32_t *id, int32_t *rate, dm_fault) \
    F(videoResolution, rs2_get_video_stream_resolution, void, dm_object profile, int32_t *width, int32_t *height, \
      dm_fault) \
    F(createConfig, rs2_create_config, dm_object, dm_fault) \
    F(deleteConfig, rs2_delete_config, void, dm_object config) \
    F(enableStream, rs2_config_enable_stream, void, dm_object config, int32_t stream, int32_t index, int32_t width, \
      int32_t height, int32_t format, int32_t rate, dm_fault) \
    F(enableDevice, rs2_config_enable_device, void, dm_object config, const char *serial, dm_fault) \
    F(resolveConfig, rs2_config_resolve, dm_object, dm_object config, dm_object pipeline, dm_fault) \
    F(createPipeline, rs2_create_pipeline, dm_object, dm_object context, dm_fault) \
    F(deletePipeline, rs2_delete_pipeline, void, dm_object pipeline) \
    F(startPipeline, rs2_pipeline_start_with_config, dm_object, dm_object pipeline, dm_object config, dm_fault) \
    F(stopPipeline, rs2_pipeline_stop, void, dm_object pipeline, dm_fault) \
    F(deletePipelineProfile, rs2_delete_pipeline_profile, void, dm_object profile) \
    F(profileDevice, rs2_pipeline_profile_get_device, dm_object, dm_object profile, dm_fault) \
    F(profileStreams, rs2_pipeline_profile_get_streams, dm_object, dm_object profile, dm_fault) \
    F(waitForFrames, rs2_pipeline_try_wait_for_frames, int32_t, dm_object pipeline, dm_object_out set, \
      uint32_t milliseconds, dm_fault) \
    F(embeddedFrameCount, rs2_embedded_frames_count, int32_t, dm_object set, dm_fault) \
    F(extractFrame, rs2_extract_frame, dm_object, dm_object set, int32_t place, dm_fault) \
    F(releaseFrame, rs2_release_frame, void, dm_object frame) \
    F(frameData, rs2_get_frame_data, const void *_Nullable, dm_object frame, dm_fault) \
    F(frameSize, rs2_get_frame_data_size, int32_t, dm_object frame, dm_fault) \
    F(frameStride, rs2_get_frame_stride_in_bytes, int32_t, dm_object frame, dm_fault) \
    F(frameWidth, rs2_get_frame_width, int32_t, dm_object frame, dm_fault) \
    F(frameHeight, rs2_get_frame_height, int32_t, dm_object frame, dm_fault) \
    F(frameTime, rs2_get_frame_timestamp, double, dm_object frame, dm_fault) \
    F(frameNumber, rs2_get_frame_number, unsigned long long, dm_object frame, dm_fault) \
    F(frameProfile, rs2_get_frame_stream_profile, dm_object, dm_object frame, dm_fault) \
    O(frameClock, rs2_get_frame_timestamp_domain, int32_t, dm_object frame, dm_fault) \
    O(videoIntrinsics, rs2_get_video_stream_intrinsics, void, dm_object profile, dm_realsense_intrinsics *, dm_fault) \
    O(extrinsics, rs2_get_extrinsics, void, dm_object from, dm_object to, dm_camera_pose *, dm_fault)
DM_FUNCTIONS(dm_realsense_functions, DM_REALSENSE)

// The settings of a sensor.
#define DM_REALSENSE_OPTIONS(F, O) \
    F(supportsOption, rs2_supports_option, int32_t, dm_object sensor, int32_t option, dm_fault) \
    O(option, rs2_get_option, float, dm_object sensor, int32_t option, dm_fault) \
    F(setOption, rs2_set_option, void, dm_object sensor, int32_t option, float value, dm_fault) \
    F(optionRange, rs2_get_option_range, void, dm_object sensor, int32_t option, float *least, float *most, \
      float *step, float *standard, dm_fault) \
    F(optionValueDescription, rs2_get_option_value_description, dm_text, dm_object sensor, int32_t option, \
      float value, dm_fault)
DM_FUNCTIONS(dm_realsense_options, DM_REALSENSE_OPTIONS)

// The registration of depth to color.
#define DM_REALSENSE_ALIGNMENT(F, O) \
    F(addReference, rs2_frame_add_ref, void, dm_object frame, dm_fault) \
    F(createAlign, rs2_create_align, dm_object, int32_t stream, dm_fault) \
    F(createQueue, rs2_create_frame_queue, dm_object, int32_t capacity, dm_fault) \
    F(startProcessing, rs2_start_processing_queue, void, dm_object block, dm_object queue, dm_fault) \
    F(processFrame, rs2_process_frame, void, dm_object block, dm_object frame, dm_fault) \
    F(pollQueue, rs2_poll_for_frame, int32_t, dm_object queue, dm_object_out frame, dm_fault) \
    F(deleteProcessing, rs2_delete_processing_block, void, dm_object block) \
    F(deleteQueue, rs2_delete_frame_queue, void, dm_object queue)
DM_FUNCTIONS(dm_realsense_alignment, DM_REALSENSE_ALIGNMENT)

// Recordings.
#define DM_REALSENSE_PLAYBACK(F, O) \
    F(enableRecording, rs2_config_enable_device_from_file_repeat_option, void, dm_object config, const char *path, \
      int32_t is_looped, dm_fault) \
    F(setRealTime, rs2_playback_device_set_real_time, void, dm_object device, int32_t is_real_time, dm_fault) \
    F(pausePlayback, rs2_playback_device_pause, void, dm_object device, dm_fault) \
    F(resumePlayback, rs2_playback_device_resume, void, dm_object device, dm_fault) \
    F(playbackStatus, rs2_playback_device_get_current_status, int32_t, dm_object device, dm_fault)
DM_FUNCTIONS(dm_realsense_playback, DM_REALSENSE_PLAYBACK)

#pragma clang assume_nonnull end
