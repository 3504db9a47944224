#pragma once

/// A rigid transformation from one camera's coordinates to another's: row by row and in millimetres of Azure Kinect and
/// Orbbec, column by column and in metres of RealSense.
typedef struct {
    float rotation[9];
    float translation[3];
} dm_camera_pose;
