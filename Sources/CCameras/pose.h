#pragma once

/// A rigid transformation from one camera's coordinates to another's, as the makers of Azure Kinect and Orbbec lay it out.
typedef struct {
    float rotation[9];    // row by row
    float translation[3]; // millimetres
} dm_camera_pose;
